"""Answer a skill's requests with the function of an entry point; this file is passed with ``-c``.

The argument is a JSON object: paths, and the entry point's name, value and group. Each line of standard input is a
JSON-RPC request. The replies go to a private copy of standard output; what the function prints goes to standard error.
An exception ends the process.
"""

import json
import os
import sys
from importlib.metadata import EntryPoint


def main() -> None:
    """Load the function, and answer until there are no more requests."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # so that an exception is the last line
    about = json.loads(sys.argv.pop())
    sys.path += [path for path in about.pop("paths") if path not in sys.path]
    function = EntryPoint(**about).load()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        reply = {"jsonrpc": "2.0", "id": request["id"], "result": function(request["params"])}
        replies.write(f"{json.dumps(reply, allow_nan=False)}\n")
        replies.flush()


main()
