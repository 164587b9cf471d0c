"""Run the command line as `python -m foveal.cli`."""

from foveal.cli.app import main

if __name__ == "__main__":
    main()
