#!/bin/sh
# Makes the archives of a release in release/: for each platform a static binary
# with licence and documentation, the list of Go modules in the binary, and
# checksums of everything. The programs for macOS and Windows have no server.
set -eu
cd "$(dirname "$0")/.."
command -v zip >/dev/null || { echo "install zip first" >&2; exit 1; }

version=${TAG:-$(git describe --tags --always --dirty)}
time=$(git log -1 --format=%ct)
out=release
rm -rf "$out"
mkdir -p "$out"

# The archives depend on nothing but the commit: not on the order of a folder, nor
# on the time or the user that made them.
archive() {
  case $1 in
  *-windows-*) find "$1" -exec touch -d "@$time" {} + && find "$1" | LC_ALL=C sort | TZ=UTC zip -qX "$1.zip" -@ ;;
  *) tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -czf "$1.tar.gz" "$1" ;;
  esac
}

for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
  os=${platform%/*} arch=${platform#*/}
  name="takeover-$version-$os-$arch"
  program=takeover
  if [ "$os" = windows ]; then program=takeover.exe; fi
  mkdir "$out/$name"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags "-s -w -X main.release=$version" -o "$out/$name/$program" ./cmd/takeover
  go version -m "$out/$name/$program" > "$out/$name.modules.txt"
  cp LICENSE README.md CHANGELOG.md "$out/$name/"
  cp -R docs "$out/$name/docs"
  (cd "$out" && archive "$name")
  rm -rf "${out:?}/$name"
done
cd "$out"
sha256sum -- * > SHA256SUMS
ls -l
