// Package infoschema is information_schema where go-mysql-server's is slow or not MySQL's: it opens no more
// than the conditions on names of databases and tables leave (scope.go), reads columns table by table and
// says of them what MySQL says (columns.go), and lists the database mysql (schemata.go). Who may see what
// is the engine's to say.
package infoschema
