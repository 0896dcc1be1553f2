"""What schemathesis does not know by itself: NDJSON, a JSON document a line. Loaded by SCHEMATHESIS_HOOKS."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def write_lines(ctx, value):
    if isinstance(value, bytes):
        return value
    lines = value if isinstance(value, list) else [value]
    return "".join(json.dumps(line) + "\n" for line in lines).encode("utf-8", "surrogatepass")
