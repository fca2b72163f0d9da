#!/bin/sh
# Makes the archives of a release in release/: for each platform a static binary
# with licence and documentation, the list of Go modules in the binary, and
# checksums of everything.
set -eu
cd "$(dirname "$0")/.."

version=${TAG:-$(git describe --tags --always --dirty)}
out=release
rm -rf "$out"
mkdir -p "$out"

for arch in amd64 arm64; do
  name="takeover-$version-linux-$arch"
  mkdir "$out/$name"
  CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -ldflags "-s -w -X main.release=$version" -o "$out/$name/takeover" ./cmd/takeover
  go version -m "$out/$name/takeover" > "$out/$name.modules.txt"
  cp LICENSE README.md CHANGELOG.md "$out/$name/"
  cp -R docs "$out/$name/docs"
  tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -czf "$out/$name.tar.gz" "$name"
  rm -rf "${out:?}/$name"
done
cd "$out"
sha256sum -- * > SHA256SUMS
ls -l
