//go:build !linux

package tempfile

import "os"

// punchHole gives a part of a file back to the disk, which this system cannot.
func punchHole(*os.File, int64, int64) error { return nil }
