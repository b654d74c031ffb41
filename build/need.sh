#!/bin/sh
# need.sh PACKAGE... [--optional PACKAGE...]: makes sure that Debian packages are installed. As root on Debian or Ubuntu it installs
# what is missing; else it says in one line what to install. Elsewhere it only warns when a tool is not there later on. What is
# optional, since not every release has it, is installed where it can be; the tests say what they leave out without it.
set -eu

if ! command -v dpkg-query >/dev/null 2>&1; then
    exit 0
fi
missing= wanted= optional=false
for package in "$@"; do
    if [ "$package" = --optional ]; then
        optional=true
        continue
    fi
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) in
        installed) ;;
        *) if $optional; then wanted="$wanted $package"; else missing="$missing $package"; fi ;;
    esac
done
if [ -n "$wanted" ] && [ "$(id -u)" = 0 ]; then
    for package in $wanted; do
        # The lists may be old, or none.
        apt-cache show "$package" >/dev/null 2>&1 || apt-get update >/dev/null 2>&1 || true
        if apt-cache show "$package" >/dev/null 2>&1; then
            missing="$missing $package"
        else
            echo "$package is not to be had here: the tests leave out what needs it" >&2
        fi
    done
fi
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
