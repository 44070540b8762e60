"""Answer a skill's requests with the function of an entry point; this file is passed with ``-c``.

The argument is a JSON object: paths, and the entry point's name, value and group. Each line of standard input is a
JSON-RPC request. The replies go to a private copy of standard output; what the function prints goes to standard error.
"""

import json
import os
import sys
import traceback
from importlib.metadata import EntryPoint


def main() -> None:
    """Load the function, and answer until there are no more requests."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    about = json.loads(sys.argv.pop())
    sys.path += [path for path in about.pop("paths") if path not in sys.path]
    function = EntryPoint(**about).load()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            text = json.dumps({**reply, "result": function(request["params"])}, allow_nan=False)
        except Exception as error:  # noqa: BLE001 - another program's code
            traceback.print_exc()
            text = json.dumps({**reply, "error": {"code": -32000, "message": f"{type(error).__name__}: {error}"}})
        replies.write(f"{text}\n")
        replies.flush()


main()
