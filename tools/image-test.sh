#!/bin/sh
# Builds the image of the Dockerfile and runs what is in it: opens a session,
# runs a script and checks the result. Needs root, a Debian system, Go and Node,
# but no container engine and no image registry: buildah builds the image, and
# its base images are made from the system's own packages.
set -eu
cd "$(dirname "$0")/.."

[ "$(id -u)" = 0 ] || { echo "image-test: run me as root: I make file systems of other users" >&2; exit 1; }
cache=${XDG_CACHE_HOME:-$HOME/.cache}/takeover-image
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
work=$(mktemp -d)
container=""

say() { echo "image-test: $*" >&2; }

clean_up() {
  [ -z "$container" ] || buildah rm "$container" >/dev/null
  buildah rmi --prune >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# have says whether a program is installed. A function of this script with the
# program's name does not count, as it does for command -v.
have() { (unset -f "$1" 2>/dev/null; command -v "$1" >/dev/null); }

install_missing() {
  packages=""
  have buildah || packages="$packages buildah"
  have debootstrap || packages="$packages debootstrap"
  have ip || packages="$packages iproute2"
  [ -n "$packages" ] || return 0
  say "installing with apt-get:$packages"
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
}

# buildah uses a storage of our own, which keeps the base images between tests.
buildah() { command buildah --root "$cache/storage" --runroot "$cache/run" "$@"; }

# have_image says whether an image is in the storage.
have_image() { buildah inspect --type image "$1" >/dev/null 2>&1; }

# sources lists the package sources of this system that are Debian's.
sources() {
  apt-get indextargets --format '$(LABEL) $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Identifier: Packages' |
    awk '/^Debian/ && $4 == "main" { print "deb", $2, $3, $4 }' | sort -u
}

# make_debian makes the image takeover-debian from the system's release of Debian.
make_debian() {
  tarball=$cache/debian-$suite-$(date +%Y-%m).tar
  if [ ! -f "$tarball" ]; then
    say "making a Debian file system ($suite)"
    mirror=$(sources | awk -v suite="$suite" '$3 == suite { print $2; exit }')
    debootstrap --variant=minbase "$suite" "$work/debian" "$mirror" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    sources >"$work/debian/etc/apt/sources.list"
    rm -rf "$work/debian"/var/cache/apt/archives/*.deb "$work/debian"/var/lib/apt/lists/*
    rm -f "$cache"/debian-*.tar
    tar -C "$work/debian" --exclude='./dev/*' -cf "$tarball.new" .
    mv "$tarball.new" "$tarball"
    rm -rf "$work/debian"
    buildah rmi --all --force >/dev/null 2>&1 || true
  fi
  have_image localhost/takeover-debian && return 0
  base=$(buildah from scratch)
  buildah add -q "$base" "$tarball" / >/dev/null
  buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd bash "$base"
  buildah commit -q --rm "$base" localhost/takeover-debian >/dev/null
}

# derive makes an image from takeover-debian and files of this machine.
# usage: derive IMAGE ENV... -- FROM TO FROM TO ...
derive() {
  image=$1
  shift
  have_image "$image" && return 0
  say "making the base image $image"
  base=$(buildah from --pull-never localhost/takeover-debian)
  while [ "$1" != -- ]; do
    buildah config --env "$1" "$base"
    shift
  done
  shift
  while [ $# -gt 0 ]; do
    buildah copy -q "$base" "$1" "$2" >/dev/null
    shift 2
  done
  [ ! -f /etc/ssl/certs/ca-certificates.crt ] || buildah copy -q "$base" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ >/dev/null
  buildah commit -q --rm "$base" "$image" >/dev/null
}

make_bases() {
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  make_debian
  go_image=localhost/takeover-go-$(go env GOVERSION)
  node_image=localhost/takeover-node-$(node --version)
  derive "$go_image" GOPATH=/go GOTOOLCHAIN=local PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin -- "$(go env GOROOT)" /usr/local/go
  printf '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n' >"$work/npm"
  chmod 755 "$work/npm"
  derive "$node_image" NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt -- \
    "$(node -p process.execPath)" /usr/local/bin/node "$(npm root -g 2>/dev/null)/npm" /usr/local/lib/npm "$work/npm" /usr/local/bin/npm
}

# build builds the image of the Dockerfile. It downloads only what this machine's
# caches do not have.
build() {
  say "building the image"
  mkdir -p "$cache/apt/partial" "$cache/npm" "$(go env GOMODCACHE)" "$(go env GOCACHE)"
  buildah build -q --pull-never --format docker -t localhost/takeover \
    --build-arg "NODE_IMAGE=$node_image" --build-arg "GO_IMAGE=$go_image" --build-arg DEBIAN_IMAGE=localhost/takeover-debian \
    --build-arg VERSION=image-test \
    -v "$cache/npm:/root/.npm" -v "$(go env GOMODCACHE):/go/pkg/mod" -v "$(go env GOCACHE):/root/.cache/go-build" \
    -v "$cache/apt:/var/cache/apt/archives" . >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

# config reads a part of the image's configuration.
config() { buildah inspect --type image --format "{{range .Docker.Config.$1}}{{.}} {{end}}" localhost/takeover; }

# run starts the image's command in namespaces of its own, as its user, with a
# network that has nothing but loopback, and checks it from within.
run() {
  say "running the image"
  container=$(buildah from --pull-never localhost/takeover)
  root=$(buildah mount "$container")
  cp tools/image-check.sh "$root/check"
  chmod 755 "$root/check"
  user=$(buildah inspect --type image --format '{{.Docker.Config.User}}' localhost/takeover)
  [ -n "$user" ] && [ "$user" != root ] || { say "the image runs as root"; exit 1; }
  COMMAND="$(config Entrypoint)$(config Cmd)" HEALTH="$(config Healthcheck.Test)" \
    unshare --mount --net --pid --ipc --fork --kill-child tools/image-run.sh "$root" "$user" /check
}

started=$(date +%s)
install_missing
mkdir -p "$cache"
make_bases
build
run
say "the image works ($(($(date +%s) - started)) s)"
