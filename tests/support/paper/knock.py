"""Stands for one command of V-IPU: has it run behind a door, which a test can shut, says what it said, and
writes the files that it wrote.

`knock.py HOST PORT SERVER PROGRAM WORDS…`, with nothing but the standard library, so that it starts quickly. Its
request is one that a proxy understands: POST if the command changes something, else GET, and a path of its first words.
"""

import http.client
import json
import sys
from pathlib import Path

#: What ssh ends with that lost its connection.
LOST = 255
_CHANGES = ("create", "update", "remove")
_VERBS = (*_CHANGES, "list")


def main() -> int:
    """The command's own exit code."""
    host, port, server, program, *words = sys.argv[1:]
    # Options before the verb are settings.
    at = next((place for place, word in enumerate(words) if word in _VERBS), 0)
    changes = words[at] in _CHANGES
    path = "/".join(("", program, *words[at : at + (3 if changes else 2)]))
    body = json.dumps({"server": server, "program": program, "words": words})
    try:
        line = http.client.HTTPConnection(host, int(port))
        line.request("POST" if changes else "GET", path, body)
        answer = json.loads(line.getresponse().read())
    except (OSError, ValueError, http.client.HTTPException) as error:
        print(f"connection lost: {type(error).__name__}", file=sys.stderr)
        return LOST
    for name, text in answer["files"].items():
        Path(name).write_text(text, encoding="utf-8")
    sys.stdout.write(answer["out"])
    sys.stderr.write(answer["err"])
    return int(answer["code"])


if __name__ == "__main__":
    sys.exit(main())
