#!/bin/sh
# Installs consolidate from this folder into a new environment; opens no connection.
#   ./install.sh [FOLDER]        the default is ./consolidate-env
# PYTHON names another interpreter (3.11 or newer).
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        exec "$candidate" "$here/install.py" "$@"
    fi
done
echo "consolidate needs Python 3.11 or newer; name one with PYTHON=/path/to/python3" >&2
exit 1
