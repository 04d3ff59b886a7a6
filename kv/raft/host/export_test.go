package host

// SetChunkBytes makes chunks small, and returns what makes them as they were.
func SetChunkBytes(n int) (restore func()) {
	was := chunkBytes
	chunkBytes = n
	return func() { chunkBytes = was }
}
