#!/bin/sh
# Installs what Takeover needs if it is missing: Chromium, and fonts with Latin, CJK
# and emoji. Uses apt-get, and says what it installs.
set -eu

packages=""
have_font() { fc-list 2>/dev/null | grep -qi "$1"; }

if [ -z "${TAKEOVER_CHROMIUM:-}" ] && ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
  packages="$packages chromium"
fi
have_font Liberation || packages="$packages fonts-liberation"
have_font "Noto.*CJK" || packages="$packages fonts-noto-cjk"
have_font "Noto Color Emoji" || packages="$packages fonts-noto-color-emoji"
command -v fc-list >/dev/null || packages="$packages fontconfig"
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
