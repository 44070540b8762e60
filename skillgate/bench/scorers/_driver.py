"""Call a benchmark's own scorer in a separate interpreter; this file is passed with ``-c``.

Standard input is a JSON object: file, name, mark, and the function's argument. The result is written after the mark to
a private copy of standard output; the scorer's own prints go to standard error.
"""

import importlib.util
import json
import os
import sys


def main() -> None:
    """Read, call, write."""
    results = os.dup(1)
    os.dup2(2, 1)
    request = json.loads(sys.stdin.buffer.read())
    mark = request.pop("mark")
    file, name = os.path.abspath(request["file"]), request["name"]  # noqa: PTH100
    sys.argv = [file]
    sys.path.append(os.path.dirname(file))  # noqa: PTH120 - last: never shadows Python's modules
    spec = importlib.util.spec_from_file_location("benchmark_scorer", file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmark_scorer"] = module
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise SystemExit(f"{os.path.basename(file)} has no function {name}")  # noqa: PTH119
    os.write(results, f"\n{mark}{json.dumps(function(request['argument']), allow_nan=False)}\n".encode())


main()
