"""Files at the edge: whatever comes in is checked and named by line here, and is columns afterwards."""
