"""Makes the conformance file again: ``python tests/pipeline/fingerprint_vectors.py``. Only a new ``FP_VERSION`` may change one.

Every rule has a line here at each level that it works at, and the formula is there with a frame and with a key.
"""

import json
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from tocsin.pipeline.canonical import canonical
from tocsin.pipeline.identity import FP_VERSION, fingerprint

FILE: Final = Path(__file__).with_suffix(".json")
OWNERS: Final = (("process_output", ""), ("browser_js", "web"), ("http_5xx", "api/é"))

STRICT: Final = (
    "ERROR  db\tdown\r\n",
    "\x1b[1;38;5;196mERROR\x1b[m db down",
    "[31mERROR[0m db down",
    "rate(errors[5m]) is high",
    "test_wait[10m] failed",
    "\x1b]8;;https://e.test/(p)?a=[1]\x1b\\src/a.ts\x1b]8;;\x1b\\ error TS2322",
    "E\u200bRROR db\x00 down",
    "2031-05-01 10:00:00,123 ERROR worker: no",
    "9:41:07\u202fPM [vite] page reload src/main.ts",
    "May  1 10:00:00 ana sshd[1234]: closed",
    "E0501 10:00:00.123456   12345 a.go:12] no",
    "failed at src/a.py:10:4",
    "cannot bind 127.0.0.1:3000",
    "exit code: 137",
    "cafe\u0301.ts İ ΟΔΟΣ ﬁle",
    "a younger mark: e\U00010efd\u0301 x\u0323\u0301",
    "",
    "10:00:01",
)
STANDARD: Final = (
    "9:41:07 AM [vite] http proxy error: /api/me (x3)\nError: connect ECONNREFUSED 127.0.0.1:8000",
    "src/cart.ts(12,7): error TS2322: Type 'string' is not assignable to type 'number'.",
    "\x1b[96msrc/cart.ts\x1b[0m:\x1b[93m12\x1b[0m:\x1b[93m7\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0mType 'string'"
    " is not assignable to type 'number'.",
    "TypeError: x is undefined at http://localhost:5173/src/App.tsx?t=1700000000001:50:19",
    "cannot load /src/App.tsx?t=1700000000001",
    "GET http://localhost:8000/api/orders/8812?ts=17 500 Internal Server Error (132 ms)",
    "GET /api/orders/7f3c2a10-9b1e-4c55-8a77-0c1d2e3f4a5b 404 Not Found",
    "no route for /api/orders/12",
    '127.0.0.1:54321 - "GET /api/orders/12 HTTP/1.1" 500',
    "read tcp 127.0.0.1:51234->127.0.0.1:5432: read: connection reset by peer",
    "write tcp 127.0.0.1:8080->127.0.0.1:51234: write: broken pipe",
    "TLS handshake error from 127.0.0.1:53211: EOF",
    "cannot dial peer 10.0.0.1:41000",
    "KeyError: 'price' in job 7f3c2a10-9b1e-4c55-8a77-0c1d2e3f4a5b",
    "no order since 2031-05-01T10:00:00Z",
    "request_id=abc123 failed",
    "error id=E1001",
    "reached at 1700000000123 the end",
    "account 123456789 is locked",
    "order 01jabcdefghjkmnpqrstvwxyz0 is lost",
    "customer cus_9s6XKzkNRiz8i3 is unknown",
    "pod shop-7d9f8b6c5d-x2x4z is unhealthy",
    "no answer from 00:1a:2b:3c:4d:5e",
    "<Cart object at 0x7f3c2a109b1e> is gone",
    "failed with 0x80070005",
    "process died (3221225477)",
    "Invalid byte 0x80 in header",
    "Pool@1a2b3c is closed",
    "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
    "UnicodeDecodeError: 'utf-16' codec can't decode byte 0xff in position 0: invalid start byte",
    "panic: assignment to entry in nil map\n\ngoroutine 43 [running]:\nmain.save(0xc0000b2000)\n\t/srv/app/main.go:31 +0xbe",
    "thread 'tokio-runtime-worker-3' panicked at src/db.rs:88:14:\nno",
    "(node:1234) Warning: no",
    "stream 31 was reset",
    "syntax error on line 12",
    "Error: no\n  12 | let x = 1\n     | ^",
    "Error: no\n    at Server.listen (node:net:1313:16)",
    "FAILED tests/test_cart.py::test_total - AssertionError: assert 3 == 4",
    "FAILED tests/test_cart.py::test_total[3s-10 kB]",
    "--- FAIL: TestWait/10ms (0.00s)",
    "FAIL  tests/cart.test.ts > cart > totals\nAssertionError: expected 3 to be 4 // Object.is equality",
    "process web exited with code 137 after 3m2s",
    "Process finished with exit code -1073741819 (0xC0000005)",
    "error storm: 31 in 60s",
    "looping: 9x same tool call",
    "retry 3/5 of the upload",
    "downloaded 3 of 12",
    "heap limit (17 > 12)",
    "spent $1.25 on it",
    "latency: 132",
    '"GET / HTTP/1.1" 200 512',
    "======= 1 failed =======",
    "3) totals",
    "Failed to load data:image/png;base64,iVBORw0KGgo=",
    "worker blob:http://h/6f1c0a2b-0000-4000-8000-aaaaaaaaaaaa crashed",
    "dist/assets/index-DiwrgTda.js 145.02 kB",
    "dist/assets/vendor-polyfill.js 145.02 kB",
    "open '/tmp/tmpab12cd34/out.json'",
    "cannot connect to /tmp/app.sock",
    "commit 4f3a9c1b2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f70 not found",
    '{"level":50,"time":1700000000123,"pid":12,"msg":"no"}',
    "Found 3 errors in 2 files",
    "Found 0 errors",
    "no binary for linux x64",
    "HTTP 404 for /a",
    "[Errno 13] Permission denied: '/srv/a'",
    "context 83% full",
    "(x3)",
    "\ud800 cut",
)
LOOSE: Final = (
    "user 17 of 'shop' failed at /srv/a.py with http://h/x in 12ms",
    "Accepted password for ana from 10.0.0.7 port 22 ssh2",
    "rhost=host.example.com user=ana",
    "cannot reach host.example.com now",
    "java.io.IOException: closed by com.example.app.Pool",
    "state true, retries 3",
    "GET /orders/17 took 3s",
    "object deadbeef-7 and -5 of blk 3 (9)",
    "failed at http://h/x",
    "hash cafebabe is wrong",
    "17, 18, 19 are gone",
    "/api/orders/17 is slow",
)
FRAMED: Final = (
    ("TypeError: x is undefined", "total (src/cart.ts:12:7)"),
    ("KeyError: 'price'", "cart.py:12 in total"),
    ("", "main.save (/srv/app/main.go:31 +0xbe)"),
)
KEYED: Final = (("another message", "another frame", "order-17"), ("", "", "Order-17 "), ("m", "", "permission:é/\ud800"))


def _vector(level: Any, owner: tuple[str, str], message: str, frame: str = "", key: str = "") -> dict[str, str]:
    source, scope = owner
    return {
        "level": level,
        "source": source,
        "scope": scope,
        "message": message,
        "frame": frame,
        "key": key,
        "canonical": canonical(message, level),
        "fingerprint": fingerprint(source, scope, message, level, frame=frame, key=key),
    }


def vectors() -> dict[str, Any]:
    """What the file holds."""
    owners = cycle(OWNERS)
    levels = (("strict", STRICT), ("standard", STANDARD), ("loose", LOOSE))
    made = [_vector(level, next(owners), message) for level, messages in levels for message in messages]
    for level, _ in levels:
        made += [_vector(level, next(owners), message, frame) for message, frame in FRAMED]
        made += [_vector(level, next(owners), message, frame, key) for message, frame, key in KEYED]
    return {"fp_version": FP_VERSION, "vectors": made}


if __name__ == "__main__":
    FILE.write_text(f"{json.dumps(vectors(), indent=1)}\n", encoding="utf-8")
