package questions

import (
	"testing"

	"takeover/browser/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }
