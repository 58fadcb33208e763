# SPDX-License-Identifier: Apache-2.0
"""`python -m incore`: the program."""
from incore_command import main

main()
