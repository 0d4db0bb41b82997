Client = object
