# SPDX-License-Identifier: Apache-2.0
"""The command that a wheel installs: the program that it carries, or the one on the PATH. Not inside the package, which loads the library."""
import os
import shutil
import sys


def main() -> None:
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "incore", "bundle", "bin", "incore")
    program = beside if os.path.exists(beside) else shutil.which("incore")
    if not program:
        sys.exit("incore: the program is not installed")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
