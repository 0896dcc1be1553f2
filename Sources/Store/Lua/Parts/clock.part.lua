local time
local function now()
  if not time then
    local t = redis.call('TIME')
    time = string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))
  end
  return time
end
