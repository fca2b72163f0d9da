package links

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"takeover/invalid"
)

func TestLinks(t *testing.T) {
	l := New(nil)
	info, secret, err := l.Create("s1", Options{Role: RoleTakeover, MaxUses: 2, Takeover: "to_1"})
	if err != nil {
		t.Fatal(err)
	}
	if len(secret) != 43 { // 32 bytes, base64url
		t.Errorf("secret has %d characters", len(secret))
	}
	if _, err := l.Redeem(secret+"x", ""); !errors.Is(err, ErrInvalid) {
		t.Errorf("a wrong secret gave %v", err)
	}
	grant, err := l.Redeem(secret, "192.0.2.0/24")
	if err != nil || grant.SessionID != "s1" || grant.Role != RoleTakeover || grant.Takeover != "to_1" {
		t.Fatalf("redeem gave %+v, %v", grant, err)
	}
	if _, err := l.Redeem(secret, "192.0.2.0/24"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Redeem(secret, "192.0.2.0/24"); !errors.Is(err, ErrInvalid) {
		t.Errorf("a link for two uses was used three times: %v", err)
	}
	if err := l.Check(grant); err != nil {
		t.Errorf("the grant of a used-up link does not hold: %v", err)
	}
	if got := l.List("s1"); len(got) != 1 || got[0].Uses != 2 || len(got[0].Visits) != 2 || got[0].State != UsedUp || got[0].Visits[1].From != "192.0.2.0/24" {
		t.Errorf("list gave %+v", got)
	}
	forged := grant
	forged.Role = RoleControl
	if err := l.Check(forged); !errors.Is(err, ErrInvalid) {
		t.Error("a grant with another role holds")
	}
	if err := l.Revoke("s2", info.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("another session's revoke gave %v", err)
	}
	over := l.Over(grant)
	if err := l.Revoke("s1", info.ID); err != nil {
		t.Fatal(err)
	}
	select {
	case <-over:
	default:
		t.Error("who came by a revoked link is not told at once")
	}
	if err := l.Check(grant); !isError(err, Revoked) {
		t.Errorf("the grant of a revoked link gave %v", err)
	}
	if err := l.Revoke("s1", info.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("a second revoke gave %v", err)
	}
	if got := l.List("s1"); len(got) != 1 || got[0].State != Revoked || got[0].EndedAt == nil {
		t.Errorf("a revoked link is listed as %+v", got)
	}
	for field, o := range map[string]Options{
		"role":      {Role: "root"},
		"expiresIn": {Role: RoleView, ExpiresIn: -time.Second},
		"maxUses":   {Role: RoleView, MaxUses: -1},
	} {
		_, _, err := l.Create("s1", o)
		if bad := (*invalid.Error)(nil); !errors.As(err, &bad) || bad.Fields[0].Field != field {
			t.Errorf("bad %s gave %v", field, err)
		}
	}
}

func isError(err error, state State) bool {
	why := (*Error)(nil)
	return errors.As(err, &why) && why.State == state && errors.Is(err, ErrInvalid)
}

// TestLinksSayWhyTheyAreOver checks the reasons why a link may end, and how many
// ended links are remembered.
func TestLinksSayWhyTheyAreOver(t *testing.T) {
	l := New(nil)
	create := func(session string, o Options) (Info, string) {
		t.Helper()
		o.Role = RoleView
		info, secret, err := l.Create(session, o)
		if err != nil {
			t.Fatal(err)
		}
		return info, secret
	}
	info, secret := create("s1", Options{})
	l.byID[info.ID].ExpiresAt = time.Now().Add(-time.Second)
	if _, err := l.Redeem(secret, ""); !isError(err, Expired) {
		t.Errorf("an expired link gave %v", err)
	}
	_, secret = create("s2", Options{})
	l.End("s2")
	if _, err := l.Redeem(secret, ""); !isError(err, Ended) {
		t.Errorf("the link of an ended session gave %v", err)
	}
	l.Forget("s2")
	if _, err := l.Redeem(secret, ""); !errors.Is(err, ErrInvalid) {
		t.Errorf("a forgotten link gave %v", err)
	}
	for range maxOpen + keptDead {
		info, _ := create("s3", Options{})
		if err := l.Revoke("s3", info.ID); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(l.List("s3")); n > keptDead+1 {
		t.Errorf("%d links that are over are remembered", n)
	}
	for range maxOpen {
		create("s3", Options{})
	}
	if _, _, err := l.Create("s3", Options{Role: RoleView}); !errors.Is(err, ErrTooMany) {
		t.Errorf("one link too many gave %v", err)
	}
}

// TestManyUses uses a link often: its first uses stay listed beside the last ones.
func TestManyUses(t *testing.T) { synctest.Test(t, testManyUses) }

func testManyUses(t *testing.T) {
	l := New(nil)
	_, secret, err := l.Create("s1", Options{Role: RoleView})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 * keptVisits {
		if _, err := l.Redeem(secret, ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
	}
	visits := l.List("s1")[0].Visits
	if len(visits) != keptVisits || visits[0].Number != 1 || visits[firstVisits-1].Number != firstVisits || visits[firstVisits].Number != 3*keptVisits-(keptVisits-firstVisits)+1 || visits[keptVisits-1].Number != 3*keptVisits {
		t.Errorf("visits %+v", visits)
	}
}

// TestUsesAreLimited opens a link as often as a program can.
func TestUsesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(nil)
		_, secret, err := l.Create("s1", Options{Role: RoleView})
		if err != nil {
			t.Fatal(err)
		}
		_, other, err := l.Create("s1", Options{Role: RoleView})
		if err != nil {
			t.Fatal(err)
		}
		use := func(secret string, want error) {
			t.Helper()
			if _, err := l.Redeem(secret, ""); !errors.Is(err, want) {
				t.Errorf("a use gave %v, want %v", err, want)
			}
		}
		for range maxAtOnce {
			use(secret, nil)
		}
		use(secret, ErrBusy)
		use(other, nil)
		time.Sleep(time.Second)
		use(secret, nil)
		use(secret, ErrBusy)
		used := 0
		for _, one := range l.List("s1") {
			used += one.Uses
		}
		if used != maxAtOnce+2 {
			t.Errorf("%d uses are counted", used)
		}
	})
}
