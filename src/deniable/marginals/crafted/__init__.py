"""What crafted reports can have done to tables of attributes: to raw ones, and to smoothed ones."""
