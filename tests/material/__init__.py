"""What the tests of several files share: surveys, people, services, readers of files."""
