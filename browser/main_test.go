package browser_test

import (
	"testing"

	"takeover/browser/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }
