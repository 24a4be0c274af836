"""Kinds: which class gathers the lines of which kind of finding."""

from typing import Final

from .blocks import Block, Lead
from .cargo_blocks import CargoTest, Names, Progress
from .compiler_blocks import Bundler, Diagnostic, Eslint, Javac, Ruff, Webpack
from .diff_block import Diff
from .js_block import JavaScript, Thrown
from .native_blocks import ErrorLine, Go, Rust, Rustc
from .php_block import Php
from .python_block import Python
from .rule import BlockName
from .runner_blocks import Jest, Numbered, Tap, Vitest
from .section_blocks import Gradle, Race, Request, Run
from .service_blocks import Prisma, Proxy
from .stack_blocks import DotNet, Elixir, Jvm, Ruby, Sanitizer
from .suite_blocks import GoTest, Pytest, Unittest

KINDS: Final[dict[BlockName, type[Block]]] = {
    "": Lead,
    "python": Python,
    "js": JavaScript,
    "thrown": Thrown,
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
    "names": Names,
    "run": Run,
    "race": Race,
    "gradle": Gradle,
    "request": Request,
    "error": ErrorLine,
    "ruff": Ruff,
    "diff": Diff,
}
"""The class for each name that a rule's ``opens`` may have."""
