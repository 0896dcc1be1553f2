-- Whether a field of a work hash counts an outcome for which the message keeps its content, as `Outcome.keepsContent`.
local function keepsContent(name)
  return string.byte(name) == 107 and (string.find(name, '\1failed\1', 1, true)
    or string.find(name, '\1expired\1', 1, true) or string.find(name, '\1cancelled\1', 1, true))
end
