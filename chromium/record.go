package chromium

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// recordName is the file in a Chromium's folder that names its process and
// server. Only the server writes it.
const recordName = "process.json"

// record holds what the next server needs in order to clean up.
type record struct {
	Server   identity `json:"server"`
	Chromium identity `json:"chromium,omitzero"` // zero before its start
	Temp     string   `json:"temp"`
}

// identity identifies a process: a pid alone may be reused.
type identity struct {
	PID       int    `json:"pid"`
	StartTime uint64 `json:"startTime"` // clock ticks since boot: field 22 of /proc/pid/stat, proc(5)
	Boot      string `json:"boot"`      // /proc/sys/kernel/random/boot_id
}

// record records that process pid has this folder.
func (f *folder) record(pid int) error {
	chromium, err := identify(pid)
	if err != nil {
		return err
	}
	return f.writeRecord(record{Chromium: chromium, Temp: f.temp})
}

func (f *folder) writeRecord(r record) error {
	server, err := identify(os.Getpid())
	if err != nil {
		return err
	}
	r.Server = server
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file := filepath.Join(f.dir, recordName)
	// The next server must never read half a record.
	if err := os.WriteFile(file+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func readRecord(dir string) (record, error) {
	var r record
	data, err := os.ReadFile(filepath.Join(dir, recordName))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s: %w", filepath.Join(dir, recordName), err)
	}
	return r, nil
}

// identify returns the present identity of pid.
func identify(pid int) (identity, error) {
	stat, err := readStat(pid)
	if err != nil {
		return identity{}, err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return identity{}, err
	}
	return identity{PID: pid, StartTime: stat.startTime, Boot: string(bytes.TrimSpace(boot))}, nil
}

// alive reports whether this process still runs.
func (id identity) alive() bool {
	if id.PID == 0 {
		return false
	}
	now, err := identify(id.PID)
	if err != nil || now != id {
		return false
	}
	stat, err := readStat(id.PID)
	return err == nil && stat.state != 'Z'
}

// procStat holds the needed fields of /proc/pid/stat.
type procStat struct {
	name      string // at most its first 15 bytes
	state     byte
	parent    int
	group     int
	startTime uint64
}

var errStat = errors.New("malformed stat")

func readStat(pid int) (procStat, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, err
	}
	return parseStat(data)
}

func parseStat(data []byte) (procStat, error) {
	// The second field is the name in parentheses, and may contain anything.
	first, last := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if first < 0 || last < first {
		return procStat{}, errStat
	}
	fields := strings.Fields(string(data[last+1:])) // from field 3 on
	if len(fields) < 20 {
		return procStat{}, errStat
	}
	parent, err1 := strconv.Atoi(fields[1])
	group, err2 := strconv.Atoi(fields[2])
	start, err3 := strconv.ParseUint(fields[19], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return procStat{}, fmt.Errorf("%w: %w", errStat, err)
	}
	return procStat{name: string(data[first+1 : last]), state: fields[0][0], parent: parent, group: group, startTime: start}, nil
}

// allProcesses returns the ids of all processes.
func allProcesses() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
