-- The attempts that a record holds.
local function earlier(record)
  return record and #record > 2 and string.sub(record, 4 + struct.unpack('>I2', record, 2)) or ''
end
-- … and has from now on: who tells some tells all.
local function tried(record, attempts) return attempts ~= '' and attempts or earlier(record) end
