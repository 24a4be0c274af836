"""`python -m tocsin` is the command `tocsin`."""

from .cli.entry import main

if __name__ == "__main__":
    main()
