"""python -m piste"""

import sys

from piste.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
