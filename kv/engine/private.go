package engine

import (
	"io/fs"
	"os"
	"path/filepath"
)

// tighten takes from everybody but the owner what he may do with a store's directory and the files in it, which older releases made
// as the process's umask said: rows and the hashes of passwords can be read in them. Links are not followed.
func tighten(dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && !d.Type().IsRegular() {
			return nil
		}
		st, err := d.Info()
		if err != nil || st.Mode().Perm()&0o077 == 0 {
			return err
		}
		return os.Chmod(path, st.Mode().Perm()&0o700)
	})
}
