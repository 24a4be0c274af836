"""Kinds: which class gathers the lines of which kind of finding."""

from typing import Final

from .blocks import Block, Gradle, Lead, Race, Request, Run
from .compiler_blocks import Bundler, Diagnostic, Eslint, Javac, Ruff, Webpack
from .diff_block import Diff
from .js_block import JavaScript
from .native_blocks import ErrorLine, Go, Rust, Rustc
from .python_block import Python
from .rule import BlockName
from .runner_blocks import Jest, Numbered, Tap, Vitest
from .service_blocks import Prisma, Proxy
from .stack_blocks import DotNet, Elixir, Jvm, Php, Ruby, Sanitizer
from .suite_blocks import CargoTest, GoTest, Progress, Pytest, Unittest

KINDS: Final[dict[BlockName, type[Block]]] = {
    "": Lead,
    "python": Python,
    "js": JavaScript,
    "jvm": Jvm,
    "dotnet": DotNet,
    "ruby": Ruby,
    "php": Php,
    "go": Go,
    "rust": Rust,
    "elixir": Elixir,
    "sanitizer": Sanitizer,
    "diagnostic": Diagnostic,
    "javac": Javac,
    "rustc": Rustc,
    "eslint": Eslint,
    "webpack": Webpack,
    "bundler": Bundler,
    "proxy": Proxy,
    "prisma": Prisma,
    "pytest": Pytest,
    "unittest": Unittest,
    "gotest": GoTest,
    "cargotest": CargoTest,
    "jest": Jest,
    "vitest": Vitest,
    "tap": Tap,
    "numbered": Numbered,
    "progress": Progress,
    "run": Run,
    "race": Race,
    "gradle": Gradle,
    "request": Request,
    "error": ErrorLine,
    "ruff": Ruff,
    "diff": Diff,
}
"""The class for each name that a rule's ``opens`` may have."""
