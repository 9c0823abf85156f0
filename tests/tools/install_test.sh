#!/bin/sh
# make install and uninstall, staged: what was put there is gone afterwards, and nothing else.
#
# usage: install_test.sh BUILD
set -eu
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
mkdir -p "$staged/opt/p/bin" "$staged/opt/p/share/portent"
echo mine >"$staged/opt/p/bin/other"
echo mine >"$staged/opt/p/share/portent/notes"
DESTDIR=$staged cmake --install "$build" --prefix /opt/p >/dev/null
for file in bin/portent libexec/portent/portent-cc include/portent.h share/portent/vscode/package.json share/vim/vimfiles/syntax/portentprop.vim \
    share/man/man1/portent-run.1 share/bash-completion/completions/portent; do
    [ -e "$staged/opt/p/$file" ] || { echo "not installed: $file"; exit 1; }
done
DESTDIR=$staged "$root/tools/uninstall" "$build" /opt/p >/dev/null
left=$(cd "$staged" && find . ! -type d | sort | tr '\n' ' ')
[ "$left" = "./opt/p/bin/other ./opt/p/share/portent/notes " ] || { echo "left: $left"; exit 1; }
for folder in libexec/portent share/portent/vscode share/cmake/portent; do
    [ ! -e "$staged/opt/p/$folder" ] || { echo "left: $folder"; exit 1; }
done
echo "install: 1 passed, 0 failed"
