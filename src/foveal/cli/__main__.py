"""`python -m foveal.cli`: the command line without the script."""

from foveal.cli.app import main

if __name__ == "__main__":
    main()
