#!/bin/sh
# Installs what is missing of what its arguments name. Uses apt-get, and says what
# it installs.
#
#   browser   Chromium, and fonts with Latin, CJK and emoji
#   shell     Chromium's headless shell, where Debian has it
#   compiler  a C compiler, which Go's race detector needs
set -eu

packages=""
have_font() { fc-list 2>/dev/null | grep -qi "$1"; }

for wanted; do
  case $wanted in
  browser)
    if [ -z "${TAKEOVER_CHROMIUM:-}" ] && ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
      packages="$packages chromium"
    fi
    have_font Liberation || packages="$packages fonts-liberation"
    have_font "Noto.*CJK" || packages="$packages fonts-noto-cjk"
    have_font "Noto Color Emoji" || packages="$packages fonts-noto-color-emoji"
    command -v fc-list >/dev/null || packages="$packages fontconfig"
    ;;
  shell)
    # Elsewhere the tests of the pages use Chromium itself.
    if [ ! -x /usr/lib/chromium/chromium-headless-shell ] && grep -q '^ID=debian' /etc/os-release 2>/dev/null; then
      packages="$packages chromium-headless-shell"
    fi
    ;;
  compiler)
    # Go turns cgo off where it finds no C compiler.
    [ "$(go env CGO_ENABLED)" = 1 ] || packages="$packages gcc libc6-dev"
    ;;
  *)
    echo "install.sh: nothing is called $wanted" >&2
    exit 2
    ;;
  esac
done
[ -n "$packages" ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "Please install these with your package manager, then try again:$packages" >&2
  exit 1
fi
as_root=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "Please run as root: apt-get install$packages" >&2; exit 1; }
  as_root=sudo
fi
echo "Installing with apt-get:$packages"
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
