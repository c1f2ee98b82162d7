package dashboard

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the images of the documentation")

// maxImage is the size limit of an image in the documentation, in bytes.
const maxImage = 170_000

// TestImages renders the images of the documentation. Fonts differ between machines, so
// the test only checks the size of the existing images.
func TestImages(t *testing.T) {
	t.Parallel()
	url := serveDay(t, scriptedDay(t))
	for _, tc := range []struct {
		name, hash string
		look       look
	}{
		{"dashboard", "#/now", look{width: 1280, height: 1000}},
		{"dashboard-dark", "#/now", look{width: 1280, height: 1000, dark: true}},
		{"dashboard-crawler", "#/crawlers?open=GPTBot", look{width: 1440, height: 880}},
		{"dashboard-robots", "#/robots", look{width: 1280, height: 1000}},
		{"dashboard-impact", "#/impact", look{width: 1280, height: 900}},
		{"dashboard-narrow", "#/now", look{width: 390, height: 844}},
	} {
		p := open(t, url, tc.look)
		p.show(tc.hash)
		picture, err := png.Decode(bytes.NewReader(p.picture(tc.look.height)))
		if err != nil {
			t.Fatal(err)
		}
		if size := picture.Bounds().Size(); size != image.Pt(int(tc.look.width), int(tc.look.height)) {
			t.Errorf("%s: the picture is %v", tc.name, size)
		}
		var small bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, picture); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "docs", "images", tc.name+".png")
		if *update {
			if err := os.WriteFile(path, small.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		kept, err := png.DecodeConfig(bytes.NewReader(file))
		if err != nil || kept.Width != int(tc.look.width) || kept.Height != int(tc.look.height) || len(file) > maxImage {
			t.Errorf("%s: %d bytes, %d by %d pixels, %v; go test -run TestImages -update renders it again", path, len(file), kept.Width, kept.Height, err)
		}
	}
}
