package confine

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestMemory(t *testing.T) {
	limit, free := MemoryLimit(), MemoryFree()
	if limit <= 0 || limit == math.MaxInt64 || free <= 0 || free > limit {
		t.Errorf("of %d bytes, %d are free", limit, free)
	}
}

func TestMemoryGroup(t *testing.T) {
	write := func(files map[string]string) memoryGroup {
		dir := t.TempDir()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return memoryGroup(dir)
	}
	for _, c := range []struct {
		files       map[string]string
		limit, used int64
	}{
		{map[string]string{"memory.max": "1000\n", "memory.current": "300\n"}, 1000, 300},
		{map[string]string{"memory.max": "max\n", "memory.current": "300\n"}, math.MaxInt64, 300},
		{map[string]string{"memory.limit_in_bytes": "2000\n", "memory.usage_in_bytes": "7\n"}, 2000, 7},
		{map[string]string{}, math.MaxInt64, 0},
	} {
		g := write(c.files)
		if used, _ := g.read("memory.current", "memory.usage_in_bytes"); g.limit() != c.limit || used != c.used {
			t.Errorf("%v: the limit is %d and %d are used", c.files, g.limit(), used)
		}
	}
	if n, ok := field([]byte("anon 5\ninactive_file 42\n"), "inactive_file"); !ok || n != 42 {
		t.Errorf("the field is %d, %t", n, ok)
	}
	if _, ok := field([]byte("anon 5\n"), "inactive_file"); ok {
		t.Error("a field that is not there was found")
	}
}
