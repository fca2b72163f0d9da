package chromium

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// firstPreferences are settings of a new profile that have no switch. Names are
// those of Chromium's pref_names.h, nested at the dots.
var firstPreferences = map[string]any{
	"credentials_enable_service": false, // no "save password?" bubble
	"profile": map[string]any{
		"password_manager_enabled":        false,
		"password_manager_leak_detection": false, // it asks a server about typed passwords
		// Device choosers would be invisible, and pages would wait for them, so
		// pages see no devices.
		"default_content_setting_values": map[string]any{"usb_guard": 2, "hid_guard": 2, "serial_guard": 2, "bluetooth_guard": 2},
	},
	"autofill":  map[string]any{"credit_card_enabled": false, "profile_enabled": false},
	"hardware":  map[string]any{"screen_capture_enabled": false}, // the list of screens would be invisible too
	"translate": map[string]any{"enabled": false},
	"search":    map[string]any{"suggest_enabled": false},
	"net":       map[string]any{"network_prediction_options": 2}, // never look up or fetch ahead
	"alternate_error_pages": map[string]any{
		"enabled": false,
	},
}

// writeFirstPreferences writes the settings unless the profile has some already.
func writeFirstPreferences(profile string) error {
	file := filepath.Join(profile, "Default", "Preferences")
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := json.Marshal(firstPreferences)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

// tabFiles are the folders below Default in which Chromium keeps open tabs, with
// their titles and what was typed into their fields, for its next start. The names are
// those of its session_constants.cc.
var tabFiles = []string{"Sessions", "Sessions_Encrypted"}

// keepNoTabs puts an empty file in the place of each of tabFiles, so that what a
// person types is not written to disk. Chromium then does without. It has no switch
// for this.
func keepNoTabs(profile string) error {
	root, err := os.OpenRoot(profile) // Chromium's processes may have put links there
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, name := range tabFiles {
		file := filepath.Join("Default", name)
		if err := root.RemoveAll(file); err != nil { // a folder of a packed profile
			return err
		}
		if err := root.WriteFile(file, nil, 0o400); err != nil {
			return err
		}
	}
	return nil
}
