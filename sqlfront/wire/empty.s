// Functions without a body (results.go) are allowed in packages that have an assembly file.
