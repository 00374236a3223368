"""What writes the reference: pages made from the code when the documentation is built, never by hand."""
