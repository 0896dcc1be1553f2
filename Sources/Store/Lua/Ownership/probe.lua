#!lua
-- Writes nothing, and is refused whenever a script that writes would be.
return 1
