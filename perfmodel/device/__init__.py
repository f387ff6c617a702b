"""What a device is: the fields of its file, how a file is found and read, and what-if copies."""
