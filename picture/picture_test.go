package picture

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"image"
	"image/jpeg"
	"image/png"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// claim returns a small JPEG whose frame claims another size and kind.
func claim(t testing.TB, width, height int, frame byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	at := bytes.Index(data, []byte{0xff, markerSOF0})
	if at < 0 {
		t.Fatal("no frame")
	}
	data[at+1] = frame
	copy(data[at+5:], []byte{byte(height >> 8), byte(height), byte(width >> 8), byte(width)})
	return data
}

func TestDecode(t *testing.T) {
	whole := image.NewNRGBA(image.Rect(0, 0, 30, 20))
	var asJPEG, asPNG bytes.Buffer
	if err := errors.Join(jpeg.Encode(&asJPEG, whole, nil), png.Encode(&asPNG, whole)); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"JPEG": asJPEG.Bytes(), "PNG": asPNG.Bytes()} {
		if got, err := Decode(data); err != nil || got.Bounds() != whole.Bounds() {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	small := claim(t, 8, 8, markerSOF2)
	for name, tt := range map[string]struct {
		data []byte
		want error
	}{
		"a huge JPEG":                         {claim(t, 65_500, 65_500, markerSOF0), ErrTooLarge},
		"a wide JPEG":                         {claim(t, 65_500, 612, markerSOF0), ErrTooLarge},
		"a progressive JPEG":                  {small, ErrProgressive},
		"a progressive JPEG after stray data": {slices.Concat(small[:2], []byte{1, 2, 0xff, 0, 0xff, 0xff, 0xd3}, small[2:]), ErrProgressive},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(tt.data)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
			t.Errorf("%s took %d bytes", name, took)
		}
	}
	if _, err := Decode([]byte("no picture")); err == nil {
		t.Error("text was decoded")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(claim(f, 8, 8, markerSOF0))
	f.Add(claim(f, 8, 8, markerSOF2))
	f.Fuzz(func(t *testing.T, data []byte) {
		if decoded, err := Decode(data); err == nil && decoded.Bounds().Dx()*decoded.Bounds().Dy() > maxPixels {
			t.Errorf("decoded %v", decoded.Bounds())
		}
	})
}

// TestNothingElseDecodes finds calls of decoders in the program, which would decode
// pictures without bounds.
func TestNothingElseDecodes(t *testing.T) {
	decoders := []string{"image.Decode", "image.DecodeConfig", "jpeg.Decode", "jpeg.DecodeConfig", "png.Decode", "png.DecodeConfig", "webp.Decode", "webp.DecodeConfig"}
	files, found := 0, 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "node_modules" || name == "bench" || name == "tools" || name == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if from, ok := s.X.(*ast.Ident); ok && slices.Contains(decoders, from.Name+"."+s.Sel.Name) {
					if found++; filepath.Dir(path) != filepath.Join("..", "picture") {
						t.Errorf("%s calls %s.%s: use picture.Decode", path, from.Name, s.Sel.Name)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 100 || found < 2 {
		t.Errorf("%d files, %d calls: %v", files, found, err)
	}
}
