-- The language server of dropforge for Neovim 0.7 and newer. Copy this file to `~/.config/nvim/plugin/`.
--
-- A project with a `dropforge.toml` needs no settings. Others go to `init.lua`:
--   vim.g.dropforge = { cmd = { 'dropforge', 'lsp' }, values = { 'values.yaml' }, fleet = { 'clusters.ndjson' }, cluster = 'eu-1' }
-- `:DropforgeCluster us-1` chooses the cluster whose values are shown.

local settings = vim.g.dropforge or {}
local group = vim.api.nvim_create_augroup('dropforge', {})

-- YAML with CEL keeps the colours of YAML.
local filetypes = {
  ['*.tera,*.tera.*'] = 'tera',
  ['*.gotmpl'] = 'gotmpl',
  ['*.tftpl,*.hcl.*'] = 'tftpl',
  ['*.cel'] = 'cel',
  ['*.cel.yaml,*.cel.yml'] = 'yaml.cel',
  ['*.tower,*.tower.*'] = 'tower',
}

-- Files of languages that are not ours, which the server reads, too: HCL, and values whose unsaved texts count.
local others = '*.hcl,*.tf,values*.yaml,values*.yml'

-- Returns the folder that holds the first of `names` found above a file, else the file's folder.
local function root(file)
  local folder = vim.fn.fnamemodify(file, ':p:h')
  for _, name in ipairs({ 'dropforge.toml', 'Chart.yaml' }) do
    local found = vim.fn.findfile(name, vim.fn.escape(folder, ' ,') .. ';')
    if found ~= '' then return vim.fn.fnamemodify(found, ':p:h') end
  end
  local git = vim.fn.finddir('.git', vim.fn.escape(folder, ' ,') .. ';')
  return git ~= '' and vim.fn.fnamemodify(git, ':p:h:h') or folder
end

local function is_chart(file)
  return vim.fn.findfile('Chart.yaml', vim.fn.escape(vim.fn.fnamemodify(file, ':p:h'), ' ,') .. ';') ~= ''
end

local config = {
  name = 'dropforge',
  cmd = settings.cmd or { 'dropforge', 'lsp' },
  on_attach = function(_, buffer)
    if vim.lsp.inlay_hint then vim.lsp.inlay_hint.enable(true, { bufnr = buffer }) end
  end,
  init_options = { values = settings.values, fleet = settings.fleet, cluster = settings.cluster },
}

-- Neovim 0.11 starts a server for each root itself. Before that, one is started for each root here.
local start
if vim.lsp.config then
  start = function() end
  config.filetypes = vim.list_extend(vim.tbl_values(filetypes), { 'helm', 'hcl', 'terraform', 'yaml' })
  config.root_dir = function(buffer, found)
    local file = vim.api.nvim_buf_get_name(buffer)
    local is_values = vim.fn.fnamemodify(file, ':t'):match('^values.*%.ya?ml$')
    if vim.bo[buffer].filetype ~= 'yaml' or is_values then found(root(file)) end
  end
  vim.lsp.config('dropforge', config)
  vim.lsp.enable('dropforge')
else
  local clients = {}
  start = function(buffer, file)
    local dir = root(file)
    local client = clients[dir] and vim.lsp.get_client_by_id(clients[dir])
    if not client or client.is_stopped() then
      clients[dir] = vim.lsp.start_client(vim.tbl_extend('force', config, { root_dir = dir }))
    end
    if clients[dir] then vim.lsp.buf_attach_client(buffer, clients[dir]) end
  end
end

local function open(filetype)
  return function(event)
    if filetype == 'helm' and not is_chart(event.match) then return end
    if filetype then vim.bo[event.buf].filetype = filetype end
    start(event.buf, event.match)
  end
end

local function on_open(pattern, filetype)
  local events = { 'BufRead', 'BufNewFile' }
  vim.api.nvim_create_autocmd(events, { group = group, pattern = pattern, callback = open(filetype) })
end

on_open('*/templates/*.yaml,*/templates/*.yml,*/templates/*.tpl,*/templates/NOTES.txt', 'helm')
on_open(others, nil)
for pattern, filetype in pairs(filetypes) do
  on_open(pattern, filetype)
end

local function command(name, argument)
  local params = { command = 'dropforge.' .. name, arguments = { argument } }
  for id, answer in pairs(vim.lsp.buf_request_sync(0, 'workspace/executeCommand', params, 2000) or {}) do
    local client, refused = vim.lsp.get_client_by_id(id), answer.err or answer.error
    if refused and client and client.name == 'dropforge' then vim.notify(refused.message, vim.log.levels.ERROR) end
    if answer.result and answer.result ~= vim.NIL then return answer.result end
  end
  return {}
end

vim.api.nvim_create_user_command('DropforgeCluster', function(given)
  command('selectCluster', given.args)
end, {
  nargs = 1,
  complete = function(start)
    local clusters = command('listClusters', vim.uri_from_bufnr(0))
    return vim.tbl_filter(function(name) return vim.startswith(name, start) end, clusters)
  end,
})
