"""Frames: which frame of a stack is the application's own, and how it is named without its line number."""

import re
from typing import Final

_FOREIGN: Final = re.compile(
    r"(?x) site-packages | dist-packages | /lib/python\d | ^<frozen | ^<string>$ | ^<stdin> | python\d+\.zip"
    r"| node_modules | \[native | ^<anonymous> | webpack/(?:bootstrap|runtime) | ^webpack-internal:///\(?rsc"
    r"| /@vite/ | /@react-refresh | ^ext: | ^bun: | ^deno: | \.(?:yarn|pnp)[/.]"
    r"| /usr/(?:local/)?lib/ | /(?:go[\d.-]*|libexec)/src/[a-z]+/ | /toolchain@v | \$GOROOT"
    r"| /pkg/mod/ | ^_?cgo | /rustc/ | /\.cargo/ | /registry/src/ | /gems/ | /ruby/\d | /vendor/ | <internal:"
)
_FOREIGN_JVM: Final = re.compile(
    r"^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|clojure|akka|reactor|io\.netty|io\.micrometer"
    r"|org\.(?:springframework|apache|junit|hibernate|eclipse|gradle|codehaus|slf4j|aspectj|jboss|mockito|testng|postgresql)"
    r"|com\.(?:zaxxer|mysql|fasterxml|google|intellij|squareup)|ch\.qos|worker\.org\.gradle)\."
)


# Before version 16 Node named its own files without a scheme.
_INTERNAL: Final = re.compile(
    r"^(?:node:|internal/|native$"
    r"|(?:_(?:http|stream|tls)_\w+|assert|bootstrap_node|child_process|cluster|dgram|dns|domain|events|fs|https?|module|net|readline"
    r"|stream|timers|tls|url|util|vm|zlib)\.js$)"
)


def is_internal(path: str) -> bool:
    """True for the runtime's own JavaScript, which says nothing of where a fault is."""
    return bool(_INTERNAL.match(path))


def is_own(path: str) -> bool:
    """True if a frame's file is the application's: no library, no standard library, no runtime."""
    return not _FOREIGN.search(path) and not is_internal(path)


def is_own_class(name: str) -> bool:
    """The same for a JVM class name."""
    return not _FOREIGN_JVM.match(name)


def named(path: str, function: str = "") -> str:
    """``cart.py in total``: the file's own name and the function, no directory, no query, no line."""
    path = re.split(r"[?#]", path, maxsplit=1)[0].rstrip("/")
    name = re.split(r"[/\\]", path)[-1] or path
    return f"{name} in {function}" if function else name
