// Package window has functions over windows of rows that the library computes otherwise than MySQL.
//
// A function is made for a window, is told where a partition begins and ends, and then asked for the value of
// each frame in it. The sums here are made once for the partition, up to each of its rows, so that a frame
// takes two of them, however wide it is.
package window
