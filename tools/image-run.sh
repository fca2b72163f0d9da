#!/bin/sh
# Runs a command in the file system of an image, as one of its users.
# image-test.sh starts it in new namespaces of mounts, network and processes.
# usage: image-run.sh ROOT USER COMMAND
set -eu
root=$1 user=$2 command=$3

mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /dev dev
mount --bind -o ro /sys sys
mount -t tmpfs -o mode=1777,size=1g tmpfs dev/shm
mount -t tmpfs -o mode=1777 tmpfs tmp
ip link set lo up

# Containers change the root like this, too. In a chroot, the kernel would refuse
# Chromium the user namespaces that its sandbox needs.
mkdir -p .old
pivot_root . .old
umount -l /.old
rmdir /.old
exec setpriv --reuid="$user" --regid="$user" --init-groups --no-new-privs \
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="/home/$user" COMMAND="$COMMAND" HEALTH="$HEALTH" "$command"
