// Package textfile reads the text files of LOAD DATA: lines and fields as FIELDS and LINES say,
// taken apart as MySQL's own reader does. It knows no tables; what a field's text means for a column
// is the loader's business.
package textfile
