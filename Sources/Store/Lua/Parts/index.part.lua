-- An index bucket: entries of a hash and a number, four bytes each. An alias bucket: of a hash, four bytes, a place,
-- six, and two that tell entries of one device apart.
local function behind(held, hash, size)
  local found, at = '', 1
  while true do
    at = string.find(held, hash, at, true)
    if not at then return found end
    if (at - 1) % size == 0 then found = found .. string.sub(held, at + #hash, at + size - 1) end
    at = at + 1
  end
end
local function numbers(held, hash) return behind(held, hash, 8) end
local function aliased(held, hash) return behind(held, hash, 12) end
local function without(held, entry)
  for i = 1, #held, #entry do
    if string.sub(held, i, i + #entry - 1) == entry then
      return string.sub(held, 1, i - 1) .. string.sub(held, i + #entry)
    end
  end
  return held
end
