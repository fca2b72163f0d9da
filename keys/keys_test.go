package keys_test

import (
	"testing"

	"takeover/keys"
)

func TestKeys(t *testing.T) {
	n := 0
	for k := range keys.All() {
		n++
		if k.KeyCode == 0 || (k.Name == "") == (k.Plain == "" || k.Shift == "") {
			t.Errorf("%s: %+v", k.Code, k)
		}
		if found, ok := keys.ByCode(k.Code); !ok || found != k {
			t.Errorf("%s is found as %+v", k.Code, found)
		}
	}
	if n < 100 {
		t.Errorf("there are %d keys", n)
	}
	for name, code := range map[string]string{"Shift": "ShiftLeft", "Enter": "Enter", "F1": "F1", "AltGraph": "", "Process": ""} {
		if k, ok := keys.ByName(name); !ok || k.Code != code || k.Name != name {
			t.Errorf("%s is found as %+v", name, k)
		}
	}
	if _, ok := keys.ByName("a"); ok {
		t.Error("a key that types is found by name")
	}
}
