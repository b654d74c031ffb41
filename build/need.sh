#!/bin/sh
# need.sh PACKAGE...: makes sure that Debian packages are installed. As root on Debian or Ubuntu it installs what is
# missing; else it says in one line what to install. Elsewhere it only warns when a tool is not there later on.
set -eu

if ! command -v dpkg-query >/dev/null 2>&1; then
    exit 0
fi
missing=
for package in "$@"; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) in
        installed) ;;
        *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
    echo "missing packages, install them with: sudo apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
echo "installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # the list is split on purpose
if ! { apt-get update && apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "could not install$missing" >&2
    exit 1
fi
