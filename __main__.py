"""`python -m tocsin` is the command `tocsin`."""

from .cli.main import main

if __name__ == "__main__":
    main()
