package store

// SetFree changes how many bytes of the disk the embedded server leaves free.
func (s *Store) SetFree(bytes uint64) { s.disk.free.Store(bytes) }
